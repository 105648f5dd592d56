/** Returns a proxy of a port with some of its methods replaced. All others, and the getters, are those of `port`. */
export function overridden<Port extends object>(port: Port, methods: Partial<Port>): Port {
  const bound = new Map<PropertyKey, unknown>(Object.entries(methods));
  return new Proxy(port, {
    get(target, name) {
      const known = bound.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      // Methods that use private members only work on the port itself.
      const method = value.bind(target) as unknown;
      bound.set(name, method);
      return method;
    },
  });
}

/** A real thing of which a test does some methods itself. */
export function withMethods<T extends object>(real: T, methods: Partial<T>): T {
  return new Proxy(real, {
    get(target, name) {
      const method: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}

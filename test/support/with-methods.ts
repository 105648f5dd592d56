/** A real object with some methods replaced by a test. */
export function withMethods<T extends object>(real: T, methods: Partial<T>): T {
  return new Proxy(real, {
    get(target, name) {
      const method: unknown = Reflect.get(name in methods ? methods : target, name);
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}

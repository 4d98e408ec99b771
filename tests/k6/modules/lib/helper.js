export const PI = 3;
export function add(a, b) {
  return a + b;
}
export class Counter {
  #n = 0;
  next() {
    this.#n += 1;
    return this.#n;
  }
}
export { add as plus };
export * from './other.js';
export default (n) => n * 2;

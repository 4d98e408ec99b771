// The console: levels, and how values are written.
export default function () {
  console.log('text', 1, 2.5, true, null, undefined);
  console.log({ a: 1, b: [1, 2], c: { d: null } }, [1, 'x', undefined]);
  console.info('info');
  console.warn('warn');
  console.error('error');
  console.log();
  console.log('');
  console.log('two\nlines');
  console.log(() => 1);
  console.log(new Date(0));
  console.log(new Error('an error'));
  console.log(new Map([[1, 2]]), new Set([1]), /re/g, 10n);
  console.log('%s is %d', 'a', 1);
  console.log([], {}, '', NaN, Infinity, -0);
  const loop = {};
  loop.self = loop;
  console.log(loop);
  console.log(new Uint8Array([1, 2]), new ArrayBuffer(2));
  class Point { constructor() { this.x = 1; } }
  console.log(new Point());
}

// Names that are global.
export const options = { vus: 1, iterations: 2 };

export default function () {
  console.log(__VU, __ITER, typeof __ENV, __ENV.HOST.length > 0, __ENV.MISSING);
  const names = ['open', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'console', 'crypto',
    'global', 'globalThis', 'Buffer', 'process', 'window', 'TextEncoder',
    'TextDecoder'];
  for (const name of names) console.log(name, typeof globalThis[name]);
}

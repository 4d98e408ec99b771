// Options and functions from another module.
export { options, default } from './lib/test.js';
export { setup } from './lib/test.js';

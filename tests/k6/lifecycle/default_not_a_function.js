// A default export that is not a function is an error.
export default 5;

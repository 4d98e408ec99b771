module.exports = { value: 5, twice: (n) => n * 2 };

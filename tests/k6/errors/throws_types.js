// What can be thrown.
// differs: exit iterations-throw
// differs: errors thrown-values
export const options = { vus: 1, iterations: 5 };

class OwnError extends Error {
  constructor(message) {
    super(message);
    this.name = 'OwnError';
  }
}

export default function () {
  switch (__ITER) {
    case 0:
      throw new TypeError('a type');
    case 1:
      throw 'a text';
    case 2:
      throw { code: 5 };
    case 3:
      throw new OwnError('own');
    default:
      throw null;
  }
}

// await outside of functions.
const value = await Promise.resolve(5);

export default function () {
  console.log(value);
}

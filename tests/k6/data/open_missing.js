// A file that does not exist is an error.
// differs: errors init-errors
const text = open('./lib/missing.txt');

export default function () {
  console.log(text);
}

// Without setup(), the function gets undefined.
export default function (data) {
  console.log(data === undefined, arguments.length);
}

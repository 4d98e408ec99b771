// setInterval() and clearInterval().
export default function () {
  let count = 0;
  const id = setInterval(() => {
    count += 1;
    console.log(count);
    if (count === 3) clearInterval(id);
  }, 20);
}

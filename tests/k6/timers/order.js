// Promises before timers.
export default function () {
  setTimeout(() => console.log('timer'), 0);
  Promise.resolve().then(() => console.log('promise'));
  (async () => {
    await null;
    console.log('await');
  })();
  console.log('now');
}

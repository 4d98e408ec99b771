// A timer in the init part.
// differs: exit timers-in-init
// differs: checks timers-in-init
// differs: metrics timers-in-init
// differs: keys timers-in-init
// differs: console timers-in-init
setTimeout(() => console.log('init timer'), 10);

export default function () {
  console.log('iteration');
}

// An async default function.
import { sleep } from 'k6';

export const options = { vus: 1, iterations: 2 };

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export default async function () {
  const before = Date.now();
  await wait(100);
  console.log(Date.now() - before >= 95);
}

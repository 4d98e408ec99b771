// A group of an async function is refused.
import { group } from 'k6';

export default async function () {
  try {
    group('async', async () => {});
    console.log('accepted');
  } catch (e) {
    console.log('refused');
  }
}

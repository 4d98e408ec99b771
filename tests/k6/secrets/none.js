// Secrets without a source.
import secrets from 'k6/secrets';

export default async function () {
  try {
    await secrets.get('a');
    console.log('found');
  } catch (e) {
    console.log('exception');
  }
}

// k6/experimental/streams: a stream of values.
import { ReadableStream } from 'k6/experimental/streams';

export default async function () {
  const stream = new ReadableStream({
    start(controller) {
      for (const n of [1, 2, 3]) controller.enqueue(n);
      controller.close();
    },
  });
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    console.log(value);
  }
  console.log(stream.locked);
}

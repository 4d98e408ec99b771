// k6/net/grpc: promises.
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
client.load([], 'echo.proto');

export default async function () {
  client.connect(__ENV.GRPC, { plaintext: true });
  const all = await Promise.all([1, 2, 3].map((id) => client.asyncInvoke('echo.v1.Echo/Send', { anInt32: id })));
  console.log(all.map((one) => one.message.anInt32).join());
}

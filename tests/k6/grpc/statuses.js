// k6/net/grpc: statuses, metadata, and a discarded message.
// differs: exit failed-requests
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
client.load([], 'echo.proto');

export default function () {
  client.connect(__ENV.GRPC, { plaintext: true });
  const metadata = { 'x-status': '5', 'x-message': 'no such item' };
  const failed = client.invoke('echo.v1.Echo/Send', { aString: 'x' }, { metadata });
  console.log(failed.status === grpc.StatusNotFound, failed.error.code, failed.error.message);
  console.log(failed.message.aString === '', JSON.stringify(failed.trailers['x-trailer']));
  const echoed = client.invoke('echo.v1.Echo/Send', {}, { metadata: { 'x-echo': 'one' }, discardResponseMessage: true });
  console.log(echoed.message, JSON.stringify(echoed.headers['x-header']));
  const late = client.invoke('echo.v1.Echo/Send', {}, { metadata: { 'x-delay': '5s' }, timeout: '100ms' });
  console.log(late.status === grpc.StatusDeadlineExceeded, late.error.code);
  console.log(client.healthCheck().status === grpc.HealthCheckServing);
  client.close();
}

// k6/net/grpc: mistakes in calls.
import grpc from 'k6/net/grpc';

const client = new grpc.Client();
client.load([], 'echo.proto');

function tries(name, call) {
  try {
    call();
    console.log(name, 'is accepted');
  } catch {
    console.log(name, 'throws');
  }
}

export default function () {
  tries('invoke() before connect()', () => client.invoke('echo.v1.Echo/Send', {}));
  tries('an unknown parameter of connect()', () => client.connect(__ENV.GRPC, { plain: true }));
  client.connect(__ENV.GRPC, { plaintext: true });
  tries('an unknown method', () => client.invoke('echo.v1.Echo/None', {}));
  tries('an unknown field', () => client.invoke('echo.v1.Echo/Send', { none: 1 }));
  tries('a text for a number', () => client.invoke('echo.v1.Echo/Send', { anInt32: 'x' }));
  tries('an unknown parameter of a call', () => client.invoke('echo.v1.Echo/Send', {}, { headers: {} }));
  tries('load() in an iteration', () => client.load([], 'echo.proto'));
  tries('a Stream of an unknown method', () => new grpc.Stream(client, 'echo.v1.Echo/None'));
}

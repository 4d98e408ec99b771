// k6/ws: an exception in a handler.
// differs: exit iterations-throw
import ws from 'k6/ws';

export const options = { vus: 1, iterations: 2 };

export default function () {
  ws.connect(`ws://${__ENV.HOST}/ws/greet`, (socket) => {
    socket.on('message', () => {
      throw new Error('in a handler');
    });
  });
  console.log('after');
}

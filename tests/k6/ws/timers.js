// k6/ws: timers of a socket. The last message may come after the close.
// skips: metrics
import ws from 'k6/ws';

export default function () {
  ws.connect(`ws://${__ENV.HOST}/ws/echo`, (socket) => {
    let count = 0;
    socket.on('open', () => {
      socket.setInterval(() => {
        count += 1;
        socket.send(`interval ${count}`);
        if (count === 3) socket.close();
      }, 50);
      socket.setTimeout(() => console.log('timeout'), 20);
    });
    socket.on('close', () => console.log('close', count));
  });
}

// HTML that is not well formed, and selectors that are not valid.
import { parseHTML } from 'k6/html';

export default function () {
  console.log(parseHTML('<p>one<p>two<b>bold').find('p').size());
  console.log(parseHTML('').find('p').size(), parseHTML('text only').find('body').text());
  console.log(parseHTML('<div>&amp;&lt;&uuml;&#65;</div>').find('div').text());
  console.log(parseHTML('<table><td>x</table>').find('tbody td').text());
  console.log(parseHTML('<div id=a>x</div>').find('#a').html(), parseHTML('<p>x</p>').find('q').text());
}

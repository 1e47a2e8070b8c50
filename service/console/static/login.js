// The login: a token, which is given to the server once and kept by nobody here.
import { html, useEffect, useRef, useState } from './lib.js';
import { logIn } from './api.js';
import { Problem } from './ui.js';

export function Login({ done }) {
  const [error, setError] = useState(null);
  const field = useRef(null);
  useEffect(() => { document.title = 'Log in – lethe'; field.current.focus(); }, []);
  const submit = async event => {
    event.preventDefault();
    setError(null);
    try {
      done(await logIn(field.current.value.trim()));
    } catch (failed) {
      setError(failed);
      field.current.select();
    }
  };
  return html`<main class="plain">
    <h1>lethe</h1>
    <form onSubmit=${submit}>
      <label for="token">Your token</label>
      <input id="token" type="password" autocomplete="current-password" spellcheck=${false} required ref=${field} aria-describedby="token-help" />
      <p id="token-help" class="note">It begins with <code>lethe_</code>, or is one of your organisation's sign-on. Whoever runs lethe here makes one for you
        with <code>lethe tokens generate</code>.</p>
      <${Problem} error=${error} />
      <button class="main">Log in</button>
    </form>
  </main>`;
}

import { credentials } from 'amqplib';

/** The login of a broker's URL, guest's if it has none. Left to itself, amqplib reads `%C3%A4` as two characters, and the broker refuses it. */
export function loginOf({ username, password }: URL): ReturnType<typeof credentials.plain> {
  if (username === '' && password === '') return credentials.plain('guest', 'guest');
  return credentials.plain(decodeURIComponent(username), decodeURIComponent(password));
}

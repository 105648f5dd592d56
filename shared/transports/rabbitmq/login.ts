import { credentials } from 'amqplib';

/**
 * The login of a broker's URL, guest's if it has none. Left to itself, amqplib reads `%C3%A4` as two characters, and the broker refuses it.
 * With `?auth_mechanism=external`, as RabbitMQ's own clients have it, the client's certificate says who it is.
 */
export function loginOf({
  username,
  password,
  searchParams,
}: URL): ReturnType<typeof credentials.plain> | ReturnType<typeof credentials.external> {
  if (searchParams.get('auth_mechanism') === 'external') return credentials.external();
  if (username === '' && password === '') return credentials.plain('guest', 'guest');
  return credentials.plain(decodeURIComponent(username), decodeURIComponent(password));
}

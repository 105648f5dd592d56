import { credentials } from 'amqplib';

/**
 * Returns the login in a broker's URL; `guest` if it has none. Without this, amqplib would decode `%C3%A4` as two characters, and
 * the broker would refuse the login. With `?auth_mechanism=external`, as in RabbitMQ's own clients, the client's certificate
 * identifies the user.
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

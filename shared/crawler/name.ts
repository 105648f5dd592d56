/** Valid names of crawlers, steps, joins and sessions, which become part of marks, file names and Redis keys. */
export const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/i;

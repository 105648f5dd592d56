import { tagCode } from './tags.ts';

/** Codes of the tags that more than one file of the reader uses. */
export const A = tagCode('a');
export const P = tagCode('p');
export const TABLE = tagCode('table');
export const TEMPLATE = tagCode('template');

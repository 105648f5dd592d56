import { tagCode } from './tags.ts';

/** Codes of the tags that more than one file uses. */
export const A = tagCode('a');
export const ADDRESS = tagCode('address');
export const BODY = tagCode('body');
export const BUTTON = tagCode('button');
export const DD = tagCode('dd');
export const DIV = tagCode('div');
export const DT = tagCode('dt');
export const FORM = tagCode('form');
export const LI = tagCode('li');
export const META = tagCode('meta');
export const OPTGROUP = tagCode('optgroup');
export const OPTION = tagCode('option');
export const P = tagCode('p');
export const SCRIPT = tagCode('script');
export const SELECT = tagCode('select');
export const SVG = tagCode('svg');
export const TABLE = tagCode('table');
export const TEMPLATE = tagCode('template');
export const TEXTAREA = tagCode('textarea');
export const TITLE = tagCode('title');

// What every page is made of: elements as templates, and state.
import { h, render } from './vendor/preact.js';
import { useEffect, useMemo, useRef, useState } from './vendor/hooks.js';
import htm from './vendor/htm.js';

export const html = htm.bind(h);
export { render, useEffect, useMemo, useRef, useState };

// URLs of servers. `URL` accepts hosts that no server can have, such as "$(id)" and "a&b".

/** A name, also an internationalized one in its ASCII form, or an address. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/;

/** Whether this is the host, or host and port, of a URL. */
export const isUrlHost = (text: string): boolean => /^[^\s/?#@\\]+$/.test(text) && isHttpUrl(`https://${text}`);

export const isHttpUrl = (text: string): boolean =>
  /^https?:\/\/\S+$/i.test(text) && URL.canParse(text) && HOST.test(new URL(text).hostname);

/** Characters with a meaning for shells and markup: a server's own URL is part of commands and profiles. */
const UNFIT = /["'`$&()<>;|\\{}^*!]/;

/** Whether the text can be the URL of this server, to which links, commands and profiles for devices refer. */
export const isServerUrl = (text: string): boolean => isHttpUrl(text) && !UNFIT.test(text);
export const NO_SERVER_URL = "must be an http or https URL without quotes, brackets and other characters of shells";

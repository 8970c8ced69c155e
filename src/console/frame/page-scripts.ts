// The scripts of pages, which are loaded when a page is first opened.

/** Whether the server responds, whatever it says; a proxy before a server that is gone does not count. */
export const isServed = (): Promise<boolean> =>
  fetch("/session", { credentials: "same-origin", redirect: "manual", cache: "no-store" }).then(
    ({ status }) => status < 500,
    () => false,
  );

/** Whether the error is that a script could not be loaded. Browsers have different words for it. */
export const isLoadFailure = (error: unknown): boolean =>
  error instanceof TypeError && /dynamically imported module|importing a module script/i.test(error.message);

/**
 * A script that is no longer on the server, because it was upgraded since the page was opened: a new page has its
 * successor. A server that is gone has neither, and what was typed would be lost.
 */
export function reloadAfterUpgrades(): void {
  addEventListener("vite:preloadError", () => void isServed().then((yes) => yes && location.reload()));
}

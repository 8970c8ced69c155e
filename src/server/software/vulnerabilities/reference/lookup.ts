// Whether the imported data knows a CVE, for requests. The reference files stay open between them.
import { part } from "../../../platform/core/running.ts";
import { type Library, openLibrary } from "./library.ts";
import { currentData } from "./sources.ts";

interface ReferenceLookup {
  isKnown(cve: string): Promise<boolean>;
  stop(): Promise<void>;
}

export const referenceLookup = part("reference lookup", (services): ReferenceLookup => {
  let library: Library | null = null;
  let last: Promise<unknown> = Promise.resolve();

  async function current(): Promise<Library> {
    if (library !== null && library.data === (await currentData(services))) return library;
    await library?.close();
    library = null;
    library = await openLibrary(services);
    return library;
  }

  /** One after the other, so that no file is closed while another lookup reads it. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  }

  return {
    isKnown: (cve) => inTurn(async () => (await (await current()).cve(cve)) !== null),
    stop: () =>
      inTurn(async () => {
        await library?.close();
        library = null;
      }),
  };
});

// Files that the server downloads itself, from addresses that users or catalogues name.
import { hours } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { fetchOutbound, OutboundError } from "../core/outbound/fetch.ts";
import type { ServerTx } from "../core/tables.ts";
import { BlobDiffers } from "../store/blobs/blobs.ts";
import { eq } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import { filesOf, inUploadSlot, keepFile } from "./service.ts";
import type { files } from "./tables.ts";

type FileRow = RowOf<typeof files>;
type Needs = Pick<Services, "blobs" | "clock" | "random" | "running" | "dryRun"> & { readonly store: ServerTx };

/** The file could not be downloaded. The message may be shown to users: it names the host only. */
export class DownloadError extends Error {}

export interface Wanted {
  readonly url: string;
  readonly maxBytes: number;
  /** A file with another digest is refused. One that is stored already is not downloaded again. */
  readonly sha256?: string;
}

const TRIES = 3;
const TIMEOUT = hours(1);
const REDIRECTS = 5;

/** Not in a transaction. The file is kept for a day, whether something refers to it or not. */
export async function fetchFile(services: Needs, wanted: Wanted): Promise<FileRow> {
  const { sha256 } = wanted;
  const known = sha256 === undefined ? undefined : (await filesOf(services, [sha256])).get(sha256);
  const stored = known === undefined ? null : await services.store.files.first({ where: eq("id", known) });
  if (stored) return stored;
  for (let attempt = 1; ; attempt++) {
    try {
      return await download(services, wanted);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      const isPassing = error.reason === "timeout" || error.reason === "unreachable";
      if (!isPassing || attempt === TRIES) throw new DownloadError(error.message);
    }
  }
}

async function download(services: Needs, { url, maxBytes, sha256 }: Wanted): Promise<FileRow> {
  let kept: FileRow | null = null;
  const { hostname } = new URL(url);
  try {
    const { status } = await fetchOutbound(services, url, {
      timeout: TIMEOUT,
      maxBytes,
      redirects: REDIRECTS,
      async receive(content) {
        const options = { maxBytes, ...(sha256 === undefined ? {} : { sha256 }) };
        kept = (await inUploadSlot(services, () => keepFile(services, content, options))).row;
      },
    });
    if (kept === null) throw new DownloadError(`${hostname} answered with status ${status}`);
    return kept;
  } catch (error) {
    if (error instanceof BlobDiffers) throw new DownloadError(`the file of ${hostname} has another SHA-256 digest`);
    throw error;
  }
}

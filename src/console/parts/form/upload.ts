import type { UploadSource } from "../../../api/bodies.ts";

/** A file as the body of a request: the client for browsers sends blobs as they are. */
export const uploadOf = (file: Blob): UploadSource => file as unknown as UploadSource;

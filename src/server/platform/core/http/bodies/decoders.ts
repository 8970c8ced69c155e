// Decoders of bodies, by format. Endpoints name the format with `decoded` (src/api/bodies.ts).
import type { Format } from "../../../../../api/bodies.ts";
import { decodeXml } from "../../../../../xml/decode.ts";
import { parseXml, XmlProblem } from "../../../../../xml/xml.ts";
import { badRequest } from "../../errors.ts";

/** Throws an `ApiError` with status 400 for bytes that it cannot decode. Must bound its own work: depth, entities. */
export type Decoder = (bytes: Buffer) => unknown;

const MAX_ELEMENTS = 100_000;

const xml: Decoder = (bytes) => {
  try {
    return parseXml(decodeXml(bytes), { most: MAX_ELEMENTS, lenient: true });
  } catch (error) {
    throw error instanceof XmlProblem ? badRequest(`xml decoder error: ${error.message}`) : error;
  }
};

export const decoders: Readonly<Record<Format, Decoder>> = { xml };

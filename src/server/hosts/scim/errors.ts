import { ApiError } from "../../platform/core/errors.ts";
import type { ScimType } from "../../platform/core/http/error-forms.ts";

/** 400 with the type of the error (RFC 7644, table 9). */
export const scimError = (type: ScimType, reason: string): ApiError =>
  new ApiError(400, "Bad request", [{ name: type, reason }]);
export const notUnique = (reason: string): ApiError =>
  new ApiError(409, "Resource Already Exists", [{ name: "uniqueness", reason }]);

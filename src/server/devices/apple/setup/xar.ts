// Checks that a file is a package that Macs install when device management asks them: a signed distribution package.
import { PackageError, type PackageFile } from "../../../../packages/package.ts";
import { nameOf, openXar } from "../../../../packages/xar.ts";
import { childrenOf, everyElement, type XmlElement } from "../../../../xml/xml.ts";

/** Throws `PackageError`, whose message says what is wrong with the file. */
export async function checkPackage(file: PackageFile): Promise<void> {
  const { toc } = await openXar(file);
  if (
    !childrenOf(toc, "", "signature")
      .concat(childrenOf(toc, "", "x-signature"))
      .some(hasCertificate)
  )
    throw new PackageError(
      "is not signed: sign it with `productsign` and a certificate of the type Developer ID Installer",
    );
  if (!childrenOf(toc, "", "file").some((file) => nameOf(file) === "Distribution"))
    throw new PackageError(
      "is a component package, not a distribution package: convert it with `productbuild --package`",
    );
}

const hasCertificate = (signature: XmlElement): boolean =>
  [...everyElement(signature)].some(({ name, text }) => name === "X509Certificate" && text.trim() !== "");

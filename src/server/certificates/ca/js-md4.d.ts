// Types for the used parts of the package, which ships none.
declare module "js-md4" {
  const md4: { arrayBuffer(message: Uint8Array): ArrayBuffer };
  export default md4;
}

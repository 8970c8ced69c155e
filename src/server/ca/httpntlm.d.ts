// Types for the used parts of the package, which ships none.
declare module "httpntlm/ntlm.js" {
  export interface Type2 {
    serverChallenge: Buffer;
    negotiateFlags: number;
    targetInfo?: Buffer;
  }
  const ntlm: {
    createType1Message(given: { domain: string; workstation: string }): string;
    parseType2Message(header: string, onError: (error: Error) => void): Type2 | null;
    create_NT_hashed_password(password: string): Buffer;
  };
  export default ntlm;
}

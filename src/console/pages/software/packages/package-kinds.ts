// What the name of a file says about the package in it.

export const PACKAGE_FILES = ".pkg,.msi,.exe,.deb,.rpm,.tar.gz,.ipa,.sh,.py,.ps1";

/** Files that are themselves the script that hosts run. */
export const isScriptFile = (name: string): boolean => /\.(sh|py|ps1)$/i.test(name);
/** What these install cannot be known, so that somebody has to write their scripts. */
export const needsScripts = (name: string): boolean => /\.(exe|tar\.gz)$/i.test(name);
/** An app for iPhones and iPads, which has settings and no scripts. */
export const isMobileApp = (name: string): boolean => /\.ipa$/i.test(name);

// Optional npm packages: npm installs them with this one unless told to omit optional dependencies.

import { createRequire } from 'node:module';

/** A package that is required now was omitted when this one was installed. */
export class PackageMissing extends Error {
  constructor(name: string, use: string, options?: ErrorOptions) {
    super(`${use} requires the npm package ${name}, which is not installed: npm install ${name}`, options);
  }
}

/** The path of a package. Throws PackageMissing. */
export function placeOf(name: string, use: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch (error) {
    throw new PackageMissing(name, use, { cause: error });
  }
}

/** Loads a module that imports a package. Throws PackageMissing if the package is not installed. */
export async function loadPackage<T>(name: string, use: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`)) throw new PackageMissing(name, use, { cause: error });
    throw error;
  }
}

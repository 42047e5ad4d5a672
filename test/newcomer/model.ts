// The model that the packed program asks: plays the replies of a file, prints its address, until a signal.

import { scriptFile } from '../../runtime/commands/scriptFile.ts';
import { startScriptedModel } from '../../runtime/model/scriptedModel.ts';

console.log((await startScriptedModel(scriptFile(process.argv[2] ?? ''))).url);

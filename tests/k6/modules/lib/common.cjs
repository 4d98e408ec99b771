exports.value = 5;
exports.name = __filename ? 'named' : 'unnamed';

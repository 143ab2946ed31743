"""An array of another library: it has DLPack and nothing else."""


class Foreign:
    def __init__(self, data, **options):
        self.data = data
        self.options = options

    def __dlpack__(self, **options):
        return self.data.__dlpack__(**self.options)

    def __dlpack_device__(self):
        return self.options.get("dl_device") or self.data.__dlpack_device__()

import HealthModel

/// The tables of texts that repeat, so that each is decoded once.
struct TextTables: ~Copyable {
  private var versions = ByteInterner<InternedText>()
  private var units = ByteInterner<InternedText>(limit: 512)
  private var keys = ByteInterner<InternedText>()
  private var values = ByteInterner<InternedText>()
  private var devices = ByteInterner<(device: Device?, defects: TextDefects)>()

  mutating func version(_ bytes: Bytes) -> InternedText { versions.value(of: bytes, make: InternedText.init) }
  mutating func unit(_ bytes: Bytes) -> InternedText { units.value(of: bytes, make: InternedText.init) }
  mutating func key(_ bytes: Bytes) -> InternedText { keys.value(of: bytes, make: InternedText.init) }
  mutating func value(_ bytes: Bytes) -> InternedText { values.value(of: bytes, make: InternedText.init) }

  mutating func device(_ bytes: Bytes) -> (device: Device?, defects: TextDefects) {
    devices.value(of: DeviceText.withoutAddress(bytes)) { bytes in
      var defects: TextDefects = []
      let text = XMLText.decode(bytes, defects: &defects)
      return (DeviceText.parse(text), defects)
    }
  }
}

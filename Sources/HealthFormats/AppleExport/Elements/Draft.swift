import HealthModel

/// An element whose attributes have been read and whose children have not.
struct Draft {
  var kind: ElementKind
  /// Where it began, if it has children; for notices of what shows at its end only.
  var line: Int?
  /// Of the key.
  var hash: UInt64
  /// Without identity and, but for records, without payload.
  var sample: Sample
  var metadata: [(key: String, value: String)] = []
  /// `bpm@time;…` of a heart rate variability record.
  var beats = ""
  /// The attributes that are not in the sample, for elements other than records.
  var attributes = AttributeList()
  /// The members of a correlation.
  var members: [Draft] = []
}

/// Attributes in the order of the file, taken one by one by what understands them.
struct AttributeList {
  private(set) var rest: [(name: String, value: String)] = []

  var isEmpty: Bool { rest.isEmpty }

  mutating func append(_ name: String, _ value: String) { rest.append((name, value)) }

  mutating func take(_ name: String) -> String? {
    guard let index = rest.firstIndex(where: { $0.name == name }) else { return nil }
    return rest.remove(at: index).value
  }
}

/// An element as it stands in the file.
struct RawElement {
  var name: String
  /// Where it began.
  var line: Int
  var attributes = AttributeList()
  var children: [RawElement] = []
  /// Of a `WorkoutRoute`: the index of its draft.
  var route: Int?
}

/// A `WorkoutRoute` whose points in files have not been read.
struct RouteDraft {
  var draft: Draft
  /// Those in the XML; their times are seconds after the start of ``draft``.
  var points: [RoutePoint] = []
}

/// The texts that repeat, decoded once.
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

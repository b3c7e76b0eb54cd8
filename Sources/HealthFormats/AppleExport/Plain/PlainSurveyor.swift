import HealthModel

/// The part of the survey that reads records in the usual form.
struct PlainSurveyor: ~Copyable {
  private var record = PlainRecord()
  private var types = ByteInterner<(hash: UInt64, number: Int)>()
  /// The number of each source in a ``SourceSampling``; -1 for a source that is not sampled.
  private var sources = ByteInterner<Int>()
  private var names: [String: Int] = [:]
  private var texts: [String] = []
  private var counts: [Int] = []

  /// Surveys the record at the scanner's position.
  ///
  /// - Returns: the position after the record; `nil` if ``XMLScanner/next()`` has to read it.
  mutating func next(
    _ scanner: borrowing XMLScanner, _ dates: inout DateReader, _ filter: inout KeyFilter,
    _ sampling: inout SourceSampling
  ) -> Int? {
    guard let next = scanner.plainRecord(&record), let typeBytes = record.type, let sourceBytes = record.source,
      let startBytes = record.start, let start = dates.plain(startBytes), let endBytes = record.end,
      let end = dates.plain(endBytes)
    else { return nil }
    var created: Timestamp?
    if let bytes = record.created {
      guard let date = dates.plain(bytes) else { return nil }
      created = date
    }
    let type = types.find(typeBytes) ?? addType(typeBytes)
    let hash = KeyReader.hash(kind: ElementKind.record.hash, type: type.hash, start: start, end: end, created: created)
    filter.insert(hash)
    counts[type.number] += 1
    let source = sources.find(sourceBytes) ?? addSource(sourceBytes, &sampling)
    if source >= 0, sampling.wantsNext(of: source) {
      let text = texts[type.number]
      sampling.keep(
        SampleKey(
          kind: ElementKind.record.identity, type: SampleType(text), source: "", start: start.seconds, end: end.seconds,
          created: created?.seconds),
        hash: hash, value: SourceSampling.value(record.value, unit: record.unit, type: text), of: source)
    }
    return next
  }

  private mutating func addType(_ bytes: Bytes) -> (hash: UInt64, number: Int) {
    let text = InternedText(bytes)
    let entry = (hash: text.hash, number: number(of: text.text))
    types.insert(bytes, entry)
    return entry
  }

  private mutating func addSource(_ bytes: Bytes, _ sampling: inout SourceSampling) -> Int {
    let number = sampling.number(of: XMLText.decode(bytes)) ?? -1
    sources.insert(bytes, number)
    return number
  }

  private mutating func number(of type: String) -> Int {
    if let known = names[type] { return known }
    names[type] = texts.count
    texts.append(type)
    counts.append(0)
    return texts.count - 1
  }

  /// Counts a record that is not in the usual form.
  mutating func count(_ type: String) { counts[number(of: type)] += 1 }

  /// The number of records, by type.
  var records: [String: Int] { names.mapValues { counts[$0] } }
}

extension DateReader {
  /// Returns the instant of a date in the usual form with 25 characters, or `nil` for any other text.
  @inline(__always)
  mutating func plain(_ bytes: Bytes) -> Timestamp? {
    guard bytes.count == 25, let seconds = usual(bytes) else { return nil }
    return Timestamp(seconds: seconds)
  }
}

import HealthModel

/// An element whose attributes have been read, but whose children have not.
struct Draft {
  var kind: ElementKind
  /// The line of the opening tag, for problems that are noticed only at the end of the element; `nil` for an element
  /// without children.
  var line: Int?
  /// The offset of the opening tag, in bytes from the beginning of the file.
  var offset: Int64
  /// The hash of the key; 0 for an element without a date.
  var hash: UInt64
  /// The sample, without identity and, except for records, without payload.
  var sample: Sample
  var metadata = MetadataEntries()
  /// The attributes that are not in the sample, for elements other than records.
  var attributes = AttributeList()

  var isUndated: Bool { hash == 0 }

  /// Moves the collected metadata into the sample.
  mutating func complete(_ context: inout ReadingContext) {
    context.noticeLine = line
    if !metadata.isEmpty { sample.metadata = metadata.metadata(&context) }
  }
}

extension Draft {
  /// Reads the attributes that records, correlations and workouts have in common. Fails for an element without type
  /// or start, which is counted as skipped.
  init?(
    _ kind: ElementKind, _ attributes: CommonAttributes, called element: String, _ context: inout ReadingContext
  ) {
    let key: KeyReader.Key
    do throws(KeyReader.Failure) {
      key = try context.keys.key(kind, attributes, in: context.scanner)
    } catch {
      switch error {
      case .noType: context.skip("\(element) without a type")
      case .noStart: context.skip("\(element) without a startDate")
      case .unreadableStart: context.skip("\(element) with an unreadable startDate")
      }
      return nil
    }
    context.remark(key.type.defects.union(key.source.defects))
    var source = Source(name: key.source.text)
    if let bytes = attributes.version {
      let version = context.texts.version(bytes)
      source.version = version.text
      context.remark(version.defects)
    }
    var device: (device: Device?, defects: TextDefects) = (nil, [])
    if let bytes = attributes.device {
      device = context.texts.device(bytes)
      context.remark(device.defects)
    }
    self.init(
      kind: key.kind, line: context.scanner.isSelfClosing ? nil : context.scanner.tokenLine(),
      offset: context.scanner.tokenOffset, hash: key.hash,
      sample: Sample(
        uuid: .undecided, type: SampleType(rawValue: key.type.text), start: key.start, end: key.end,
        created: key.created, source: source, device: device.device, payload: .category(CategoryValue(value: nil))))
    if attributes.duplicates > 0 { context.remark("attribute given twice") }
    if !key.problems.isEmpty { note(key.problems, attributes, element, &context) }
  }

  private mutating func note(
    _ problems: KeyReader.Problems, _ attributes: CommonAttributes, _ element: String, _ context: inout ReadingContext
  ) {
    if problems.contains(.noOffset) { context.remark("date without an offset") }
    if problems.contains(.twelveHours) { context.remark("date of a 12-hour clock") }
    if problems.contains(.noSource), AppleElements.named(element)?.hasSource != false {
      context.remark("\(element) without a sourceName")
    }
    if problems.contains(.unreadableEnd), let bytes = attributes.end {
      context.remark("\(element) with an unreadable endDate")
      metadata.append(PreservedKey.attribute("endDate"), context.decoded(bytes))
    }
    if problems.contains(.unreadableCreated), let bytes = attributes.created {
      context.remark("\(element) with an unreadable creationDate")
      metadata.append(PreservedKey.attribute("creationDate"), context.decoded(bytes))
    }
  }

  /// Creates a draft of an unknown top-level element without a date. The element becomes a sample at
  /// 1970-01-01T00:00:00Z, whose identity is made from all of its content.
  init(undated name: String, _ attributes: CommonAttributes, _ context: inout ReadingContext) {
    context.remark("\(name) without a startDate")
    let epoch = Timestamp(seconds: 0)
    self.init(
      kind: .other(name: name, identifier: nil), line: context.scanner.tokenLine(),
      offset: context.scanner.tokenOffset, hash: 0,
      sample: Sample(
        uuid: .undecided, type: SampleType(name), start: epoch, end: epoch, source: Source(name: ""),
        payload: .category(CategoryValue(value: nil))))
    for (name, bytes) in [
      ("sourceName", attributes.source), ("sourceVersion", attributes.version), ("device", attributes.device),
      ("creationDate", attributes.created), ("startDate", attributes.start), ("endDate", attributes.end),
    ] {
      if let bytes { self.attributes.append(name, context.decoded(bytes)) }
    }
  }
}

/// The open samples that collect metadata from child elements: a record, correlation or activity summary, and the
/// record inside a correlation.
struct OpenDrafts {
  var outer: Draft?
  var member: Draft?

  var isEmpty: Bool { outer == nil && member == nil }

  /// Returns the ``MetadataEntries/place(ofEntry:_:)`` in the innermost sample.
  mutating func place(ofEntry key: String, _ value: String) -> String {
    if let place = member?.metadata.place(ofEntry: key, value) { return place }
    var none = MetadataEntries()
    return outer?.metadata.place(ofEntry: key, value) ?? none.place(ofEntry: key, value)
  }

  /// Adds entries to the metadata of the innermost sample.
  mutating func append(_ entries: MetadataEntries) {
    if member != nil {
      member?.metadata.append(entries)
    } else {
      outer?.metadata.append(entries)
    }
  }
}

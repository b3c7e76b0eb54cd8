import HealthModel

/// Samples that are hard to store and transfer.
extension SampleMaker {
  /// A list with at least one sample for each unusual payload, instant, text and size. Compare it in order, because
  /// NaN is among the values.
  public static var edgeCases: [Sample] {
    var maker = SampleMaker(seed: 1)
    var samples = edgePayloads.map { maker.wrap($0) }
    samples += edgeNumbers.map { maker.wrap(.quantity(Quantity($0, "count"))) }
    samples += edgeIntegers.map { maker.wrap(.category(CategoryValue(value: $0))) }
    samples += maker.instants() + maker.spellings() + maker.crowd() + maker.large()
    return samples
  }

  /// Tombstones of unusual samples with extreme deletion times.
  public static var edgeTombstones: [Tombstone] {
    var maker = SampleMaker(seed: 2)
    var tombstones: [Tombstone] = []
    for start in extremes {
      for deleted in extremes {
        let reference = SampleReference(type: stepCount, start: start, uuid: maker.uuid())
        tombstones.append(Tombstone(sample: reference, deleted: deleted))
      }
    }
    for text in texts {
      let reference = SampleReference(type: SampleType(text), start: Timestamp(seconds: 0), uuid: maker.uuid())
      tombstones.append(Tombstone(sample: reference, deleted: Timestamp(microseconds: 1)))
    }
    return tombstones
  }

  private mutating func wrap(_ payload: Payload) -> Sample {
    var sample = steps(at: 0)
    sample.payload = payload
    return sample
  }

  /// Returns samples with all pairs of extreme instants, so that every difference that can overflow does, and samples
  /// whose times differ in their fractions of a second.
  private mutating func instants() -> [Sample] {
    var samples: [Sample] = []
    for start in Self.extremes {
      for end in Self.extremes {
        var sample = wrap(.quantity(Quantity(1, "count")))
        (sample.start, sample.end, sample.created) = (start, end, end)
        samples.append(sample)
        sample.uuid = uuid()
        (sample.start, sample.end, sample.created) = (start, start, nil)
        samples.append(sample)
      }
    }
    for microseconds in [1, 999_999, 1_000, 999_000, 1_000_001] as [Int64] {
      var sample = wrap(.quantity(Quantity(1, "count")))
      sample.start.microseconds += microseconds
      sample.created = Timestamp(microseconds: sample.start.microseconds - 1)
      samples.append(sample)
    }
    return samples
  }

  /// Returns a sample for each unusual text, with the text in every place that takes text.
  private mutating func spellings() -> [Sample] {
    Self.texts.map { text in
      var sample = wrap(.unknown(kind: text, content: .string(text)))
      sample.type = SampleType(text)
      sample.source = Source(name: text, bundleIdentifier: text, version: text)
      sample.device = Device(name: text, text: text)
      sample.metadata = [text: .string(text)]
      return sample
    }
  }

  /// Returns samples with hundreds of sources, devices and units, each used once. Whole and fractional numbers
  /// alternate.
  private mutating func crowd() -> [Sample] {
    (0..<300).map { number in
      var sample = wrap(.quantity(Quantity(Double(number) / 4, "unit \(number)")))
      sample.source = Source(name: "iPhone \(number)", version: number.isMultiple(of: 2) ? nil : "\(number)")
      sample.device = number.isMultiple(of: 3) ? nil : Device(name: "Watch \(number)")
      sample.metadata = number.isMultiple(of: 5) ? [:] : ["number": .integer(Int64(number / 7))]
      return sample
    }
  }

  /// Returns samples with a million bytes in a single value, in the metadata, and in many keys.
  private mutating func large() -> [Sample] {
    var value = wrap(.characteristic(CharacteristicValue(value: String(repeating: "é", count: 500_000))))
    value.metadata = ["large": .string(String(repeating: "\0", count: 100_000))]
    var text = wrap(.quantity(Quantity(1, "count")))
    text.metadata = ["text": .string(String(repeating: "0123456789abcde\n", count: 1 << 16))]
    var keys = wrap(.quantity(Quantity(1, "count")))
    keys.metadata = Dictionary(
      uniqueKeysWithValues: (0..<20_000).map { ("a key with the number \($0)", .number(Double($0) / 3)) })
    return [value, text, keys]
  }
}

import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// A builder of electrocardiograms in the format of Apple's export.
enum ElectrocardiogramText {
  static func file(
    recorded: String = "2023-03-04 20:55:07 -0500", device: String = "\"Watch6,7\"", rate: String = "512 hertz",
    voltages: [String] = ["12.5", "-7", "0"]
  ) -> String {
    """
    Name,Casey Doe
    Date of Birth,"Jun 12, 2006"
    Recorded Date,\(recorded)
    Classification,Sinus Rhythm
    Symptoms,
    Software Version,1.90
    Device,\(device)
    Sample Rate,\(rate)


    Lead,Lead I
    Unit,µV

    """ + voltages.map { "\n\($0)" }.joined() + "\n"
  }

  static let expected = Electrocardiogram(
    classification: "Sinus Rhythm", samplingFrequency: 512, lead: "Lead I", unit: "µV", voltages: [12.5, -7, 0])
}

@Suite struct ElectrocardiogramTests {
  private func read(_ text: String) throws -> ElectrocardiogramReader.Recording {
    try ElectrocardiogramReader.read(MemorySource(Array(text.utf8)))
  }

  @Test func appleFileIsRead() throws {
    let recording = try read(ElectrocardiogramText.file())
    #expect(recording.electrocardiogram == ElectrocardiogramText.expected)
    #expect(recording.recorded == Timestamp(iso8601: "2023-03-05T01:55:07Z"))
    #expect(recording.device == "Watch6,7")
    #expect(recording.softwareVersion == "1.90")
    #expect(recording.others.isEmpty)
    #expect(recording.unreadable.count == 0)
  }

  @Test(
    "the sample rate is known by its place, whatever hertz are called and whatever the digits",
    arguments: [
      "512 hertz", "512 Hz", "512 hercios", "512 hertsiä", "512 herców", "512 herca", "512 hercai", "512 herci",
      "512 hertsi", "512 херца", "512 เฮิรตซ์", "512 हर्ट्ज़", "٥١٢ هرتز", "۵۱۲ هرتز", "\u{200F}٥١٢٫٠ هرتز", "\"512,000 赫兹\"",
    ])
  func sampleRate(text: String) throws {
    let recording = try read(ElectrocardiogramText.file(rate: text))
    #expect(recording.electrocardiogram == ElectrocardiogramText.expected)
    #expect(recording.device == "Watch6,7" && recording.others.isEmpty)
  }

  @Test func anotherNumberIsNoSampleRate() throws {
    let later = try read(
      ElectrocardiogramText.file().replacing("512 hertz\n", with: "512 hertz\nDuration,30 seconds\n"))
    #expect(later.electrocardiogram.samplingFrequency == 512)
    let none = try read(ElectrocardiogramText.file(device: "12 Lead ECG", rate: ""))
    #expect(none.electrocardiogram.samplingFrequency == nil && none.device == "12 Lead ECG")
  }

  @Test func digitsOfArabicAndPersianAreNumbersToo() throws {
    let recording = try read(
      ElectrocardiogramText.file(
        recorded: "٢٠٢٣-٠٣-٠٤ ٢٠:٥٥:٠٧ -0500", rate: "۵۱۲ هرتز", voltages: ["١٢٫٥", "\u{200E}\u{2212}٧", "۰"]))
    #expect(recording.electrocardiogram == ElectrocardiogramText.expected)
    #expect(recording.recorded == Timestamp(iso8601: "2023-03-05T01:55:07Z"))
  }

  @Test func labelsInAnyLanguageAreKnownByTheirPlace() throws {
    let recording = try read(
      """
      \u{FEFF}名称,某人\r
      出生日期,2006年6月12日\r
      记录日期,2023-03-04 20:55:07 -0500\r
      分类,窦性心律\r
      症状,"心悸, 胸痛"\r
      软件版本,1.90\r
      设备,"Watch6,7"\r
      平均心率,61 次/分\r
      采样率,"512,000 赫兹"\r
      \r
      导联,I 导联\r
      单位,µV\r
      \r
      "12,5"\r
      -7,25\r
      """)
    #expect(
      recording.electrocardiogram
        == Electrocardiogram(
          classification: "窦性心律", symptoms: "心悸, 胸痛", averageHeartRate: 61, samplingFrequency: 512, lead: "I 导联",
          unit: "µV", voltages: [12.5, -7.25]))
    #expect(recording.hasComma)
    #expect(recording.device == "Watch6,7")
  }

  @Test func theNameAndTheDateOfBirthAreNowhere() throws {
    let recording = try read(ElectrocardiogramText.file())
    #expect(!"\(recording)".contains("Casey"))
    #expect(!"\(recording)".contains("2006"))
  }

  @Test func emptyLinesMayBeLostAndLinesAdded() throws {
    let text = ElectrocardiogramText.file().replacing("\n\n", with: "\n").replacing("\n\n", with: "\n")
    #expect(try read(text).electrocardiogram == ElectrocardiogramText.expected)
    let longer = try read(
      ElectrocardiogramText.file().replacing("Sample Rate", with: "Wrist,left\nSample Rate"))
    #expect(longer.electrocardiogram == ElectrocardiogramText.expected)
    #expect(longer.others.map(\.label) == ["Wrist"])
  }

  @Test func aVoltageThatCannotBeReadKeepsItsPlace() throws {
    let recording = try read(ElectrocardiogramText.file(voltages: ["1", "x", "nan", "3", "1e999"]))
    #expect(recording.electrocardiogram.voltages.map { $0.isNaN } == [false, true, true, false, true])
    #expect(recording.unreadable.count == 3)
  }

  @Test(arguments: [
    "", "\n\n\n", "a,b", "1\n2\n3", "Recorded Date,2023-03-04 20:55:07 -0500", "<html>",
    "Name,x\nRecorded Date,soon\n1",
    "\u{0}\u{1}",
  ])
  func whatIsNoElectrocardiogramIsRefused(text: String) {
    #expect(throws: SideFiles.Failure.self) { try read(text) }
  }

  @Test func aFloodIsRefused() {
    #expect(throws: SideFiles.Failure.self) {
      try read(ElectrocardiogramText.file() + String(repeating: "9", count: 1 << 20))
    }
    #expect(throws: SideFiles.Failure.self) {
      try read(String(repeating: "a,b\n", count: 100_000))
    }
    let voltages = RepeatingSource(
      head: ElectrocardiogramText.file(), unit: "1\n", count: 1_001_000, tail: "")
    #expect(throws: SideFiles.Failure.self) { try ElectrocardiogramReader.read(voltages) }
  }

  @Test(arguments: [
    ("a,b", ["a", "b"]), ("a,\"b, c\"", ["a", "b, c"]), ("a,\"b \"\"c\"\"\"", ["a", "b \"c\""]), ("a", ["a"]),
    ("", [""]),
    ("a;b", ["a", "b"]), ("a,b;c", ["a", "b;c"]), ("a,", ["a", ""]), ("\"a,b", ["a,b"]),
  ])
  func fieldsAreDivided(line: String, fields: [String]) {
    #expect(ElectrocardiogramReader.fields(of: line) == fields)
  }
}

#include "source/vm/qmp_session.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/json.h"
#include "parse/vm_replies.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using parse::QmpMessage;

// {"execute": …, "arguments": {…}} in one line.
std::string request(
    std::string_view command,
    const std::vector<std::pair<std::string_view, std::string>>& arguments) {
  base::JsonWriter json(base::JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("execute", command);
  json.key("arguments");
  json.begin_object();
  for (const auto& [name, value] : arguments)
    json.member(name, value);
  json.end_object();
  json.end_object();
  return json.take();
}

}  // namespace

base::Status QmpSession::greet() {
  const uint64_t until_ns = base::monotonic_ns() + deadline_ns_;
  base::Result<std::string> line = socket_.receive_line(until_ns);
  if (!line) return line.error();
  base::Result<parse::QmpHead> head = parse::parse_qmp_head(*line);
  if (!head) return head.error();
  if (head->message != QmpMessage::Greeting) {
    return base::fail(ErrorKind::Malformed, "it does not greet as QEMU does");
  }
  base::Result<std::string> ready = ask(R"({"execute":"qmp_capabilities"})");
  if (!ready) return ready.error();
  return base::Ok{};
}

base::Result<QmpSession> QmpSession::open(const Roots& roots,
                                          const ControlPath& control,
                                          uint64_t deadline_ns) {
  base::Result<base::UnixSocket> socket =
      connect_control(roots, control, base::SocketType::Stream);
  if (!socket) return socket.error();
  QmpSession session(std::move(*socket), deadline_ns);
  base::Status greeted = session.greet();
  if (!greeted) return greeted.error();
  return session;
}

base::Result<std::string> QmpSession::ask(std::string_view request_line) {
  const uint64_t until_ns = base::monotonic_ns() + deadline_ns_;
  base::Status sent = socket_.send(request_line, until_ns);
  if (sent && !request_line.ends_with('\n'))
    sent = socket_.send("\n", until_ns);
  if (!sent) return sent.error();
  while (true) {
    base::Result<std::string> line = socket_.receive_line(until_ns);
    if (!line) return line.error();
    base::Result<parse::QmpHead> head = parse::parse_qmp_head(*line);
    if (!head) return head.error();
    if (head->message == QmpMessage::Return) return line;
    if (head->message == QmpMessage::Error) {
      const bool is_absent = head->error_class == "DeviceNotActive" ||
                             head->error_class == "DeviceNotFound";
      return base::fail(
          is_absent ? ErrorKind::NotFound : ErrorKind::Unsupported,
          "QEMU: " + head->description);
    }
    // Events come in between, as many as there are until the time is over.
  }
}

base::Result<uint64_t> QmpSession::balloon_actual() {
  base::Result<std::string> line = ask(R"({"execute":"query-balloon"})");
  if (!line) return line.error();
  return parse::parse_qmp_balloon(*line);
}

base::Result<uint64_t> QmpSession::memory_size() {
  base::Result<std::string> line =
      ask(R"({"execute":"query-memory-size-summary"})");
  if (!line) return line.error();
  return parse::parse_qmp_memory_size(*line);
}

base::Result<std::string> QmpSession::print(std::string_view command) {
  return ask(request("human-monitor-command",
                     {{"command-line", std::string(command)}}));
}

base::Result<std::vector<model::RamBlock>> QmpSession::ram_blocks() {
  base::Result<std::string> line = ask(R"({"execute":"query-memdev"})");
  if (!line) return line.error();
  base::Result<std::vector<std::string>> names =
      parse::parse_qmp_memory_devices(*line);
  if (!names) return names.error();
  line = print("info ramblock");
  if (!line) return line.error();
  base::Result<std::vector<parse::QmpRamBlock>> told =
      parse::parse_qmp_ram_blocks(*line);
  if (!told) return told.error();
  std::erase_if(*told, [&](const parse::QmpRamBlock& block) {
    return std::ranges::find(*names, block.name) == names->end();
  });
  if (told->size() != names->size()) return std::vector<model::RamBlock>();
  add_first_address(*told);
  std::vector<model::RamBlock> blocks;
  for (const parse::QmpRamBlock& block : *told)
    blocks.push_back(block.block);
  return blocks;
}

// Guests begin at address 0, so that one can be asked for by any QEMU.
void QmpSession::add_first_address(std::vector<parse::QmpRamBlock>& blocks) {
  const bool is_told =
      std::ranges::any_of(blocks, [](const parse::QmpRamBlock& entry) {
        return entry.block.address.has_value();
      });
  if (is_told) return;
  base::Result<std::string> line = print("gpa2hva 0");
  if (!line) return;
  base::Result<parse::QmpHostAddress> first =
      parse::parse_qmp_host_address(*line);
  if (!first) return;
  for (parse::QmpRamBlock& entry : blocks)
    if (entry.name == first->block_name) entry.block.address = first->address;
}

base::Result<std::vector<std::string>> QmpSession::balloon_paths() {
  // With an id a device is in the first, without one in the second.
  constexpr std::array<std::string_view, 2> kFolders = {
      "/machine/peripheral", "/machine/peripheral-anon"};
  std::vector<std::string> paths;
  for (std::string_view folder : kFolders) {
    base::Result<std::string> line =
        ask(request("qom-list", {{"path", std::string(folder)}}));
    if (!line) return line.error();
    base::Result<std::vector<std::string>> names =
        parse::parse_qmp_balloon_names(*line);
    if (!names) return names.error();
    for (const std::string& name : *names)
      paths.push_back(std::string(folder) + "/" + name);
  }
  return paths;
}

base::Result<std::string> QmpSession::property(const std::string& path,
                                               std::string_view name) {
  return ask(
      request("qom-get", {{"path", path}, {"property", std::string(name)}}));
}

base::Status QmpSession::set_polling(const std::string& path,
                                     uint64_t interval_s) {
  base::JsonWriter json(base::JsonWriter::Layout::OneLine);
  json.begin_object();
  json.member("execute", "qom-set");
  json.key("arguments");
  json.begin_object();
  json.member("path", path);
  json.member("property", "guest-stats-polling-interval");
  json.member("value", interval_s);
  json.end_object();
  json.end_object();
  base::Result<std::string> line = ask(json.take());
  if (!line) return line.error();
  return base::Ok{};
}

}  // namespace tidemark::source

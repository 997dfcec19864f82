#include "analysis/cgroup_name.h"

#include <gtest/gtest.h>

namespace tidemark::analysis {
namespace {

// 64 hex digits, as container runtimes make them.
const std::string kId =
    "3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708";
const std::string kOtherId =
    "aa00bb11cc22dd33ee44ff5566778899aa00bb11cc22dd33ee44ff5566778899";
const std::string kUid = "1b2c3d4e-5f60-7182-93a4-b5c6d7e8f901";
const std::string kUidInSlice = "1b2c3d4e_5f60_7182_93a4_b5c6d7e8f901";

// ---- units

TEST(CgroupName, OfTheRootIsASlash) {
  EXPECT_EQ(cgroup_name("/"), "/");
}

TEST(CgroupName, OfAUnitStaysAsItIs) {
  EXPECT_EQ(cgroup_name("/system.slice/nginx.service"), "nginx.service");
  EXPECT_EQ(cgroup_name("/user.slice/user-1000.slice"), "user-1000.slice");
  EXPECT_EQ(cgroup_name("/init.scope"), "init.scope");
  EXPECT_EQ(cgroup_name("/app"), "app");
}

TEST(CgroupName, UndoesTheEscapesOfSystemd) {
  EXPECT_EQ(cgroup_name("/system.slice/system-getty.slice/dev\\x2ddisk.swap"),
            "dev-disk.swap");
}

TEST(CgroupName, LeavesABackslashThatIsNoEscape) {
  EXPECT_EQ(cgroup_name("/a\\b"), "a\\b");
  EXPECT_EQ(cgroup_name("/a\\xzz"), "a\\xzz");
  EXPECT_EQ(cgroup_name("/a\\x2"), "a\\x2");
  EXPECT_EQ(cgroup_name("/a\\"), "a\\");
}

TEST(CgroupName, TakesNoUnitOfPodmanForAPod) {
  EXPECT_EQ(cgroup_name("/system.slice/podman-auto-update.service"),
            "podman-auto-update.service");
}

// ---- containers and pods, by their own group

TEST(CgroupName, OfAContainerIsItsRuntimeAndShortId) {
  const auto in_scope = [](const std::string& prefix) {
    return cgroup_name("/system.slice/" + prefix + "-" + kId + ".scope");
  };
  EXPECT_EQ(in_scope("docker"), "docker 3f2a1b4c5d6e");
  EXPECT_EQ(in_scope("libpod"), "podman 3f2a1b4c5d6e");
  EXPECT_EQ(in_scope("crio"), "cri-o 3f2a1b4c5d6e");
  EXPECT_EQ(in_scope("cri-containerd"), "containerd 3f2a1b4c5d6e");
  EXPECT_EQ(in_scope("nerdctl"), "nerdctl 3f2a1b4c5d6e");
}

TEST(CgroupName, OfAContainerWithoutSystemdIsNamedByTheGroupAbove) {
  EXPECT_EQ(cgroup_name("/docker/" + kId), "docker 3f2a1b4c5d6e");
}

TEST(CgroupName, OfAContainerInAPodIsNoPod) {
  EXPECT_EQ(cgroup_name("/kubepods/burstable/pod" + kUid + "/" + kId),
            "container 3f2a1b4c5d6e");
}

TEST(CgroupName, OfAPodIsItsUid) {
  EXPECT_EQ(cgroup_name("/kubepods.slice/kubepods-burstable.slice/"
                        "kubepods-burstable-pod" +
                        kUidInSlice + ".slice"),
            "pod " + kUid);
  EXPECT_EQ(
      cgroup_name("/kubepods.slice/kubepods-pod" + kUidInSlice + ".slice"),
      "pod " + kUid);
  EXPECT_EQ(cgroup_name("/kubepods/besteffort/pod" + kUid), "pod " + kUid);
}

TEST(CgroupName, OfAClassOfPodsIsNoPod) {
  EXPECT_EQ(cgroup_name("/kubepods.slice/kubepods-besteffort.slice"),
            "kubepods-besteffort.slice");
}

TEST(CgroupName, OfALinuxContainerIsItsName) {
  EXPECT_EQ(cgroup_name("/lxc/web"), "lxc web");
  EXPECT_EQ(cgroup_name("/lxc.payload/web"), "lxc web");
  EXPECT_EQ(cgroup_name("/lxc.payload.web"), "lxc web");
}

TEST(CgroupName, OfAMachineIsItsName) {
  EXPECT_EQ(cgroup_name("/machine.slice/machine-qemu\\x2d1\\x2dweb.scope"),
            "machine qemu-1-web");
}

TEST(CgroupName, OfAShortHexNameIsNoContainer) {
  EXPECT_EQ(cgroup_name("/system.slice/docker-cafe.scope"),
            "docker-cafe.scope");
  EXPECT_EQ(cgroup_name("/docker/cafe"), "cafe");
}

// ---- the container a process is in

TEST(ContainerName, IsOfTheGroupOrOneAboveIt) {
  const std::string scope = "/system.slice/docker-" + kId + ".scope";
  EXPECT_EQ(container_name(scope), "docker 3f2a1b4c5d6e");
  EXPECT_EQ(container_name(scope + "/init/worker"), "docker 3f2a1b4c5d6e");
}

TEST(ContainerName, OfPodmanIsNotItsInnerGroup) {
  EXPECT_EQ(container_name("/machine.slice/libpod-" + kId + ".scope/container"),
            "podman 3f2a1b4c5d6e");
}

TEST(ContainerName, IsTheContainerInsideItsPod) {
  EXPECT_EQ(container_name("/kubepods.slice/kubepods-pod" + kUidInSlice +
                           ".slice/cri-containerd-" + kId + ".scope"),
            "containerd 3f2a1b4c5d6e");
}

TEST(ContainerName, IsTheInnermostOfNestedContainers) {
  EXPECT_EQ(container_name("/docker/" + kId + "/docker/" + kOtherId),
            "docker aa00bb11cc22");
}

TEST(ContainerName, IsThePodWhereNoContainerIsNamed) {
  EXPECT_EQ(container_name("/kubepods/pod" + kUid), "pod " + kUid);
}

TEST(ContainerName, IsEmptyOutsideOfContainers) {
  for (const char* path :
       {"", "/", "/init.scope", "/system.slice/nginx.service",
        "/user.slice/user-1000.slice/session-2.scope",
        "/system.slice/podman-auto-update.service"}) {
    EXPECT_EQ(container_name(path), "") << path;
  }
}

}  // namespace
}  // namespace tidemark::analysis
